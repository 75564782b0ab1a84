variable "addresses" {
  type    = list(string)
  default = ["10.0.7.1", "10.0.7.2"]
}

# All records of one name and type. PUT creates and changes them.
resource "restapi_object" "addresses" {
  path          = "/DnsRecordSet"
  object_id     = "mercury.corp.example A"
  create_method = "PUT"
  create_path   = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=mercury&Type=A"
  read_path     = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=mercury&Type=A"
  update_path   = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=mercury&Type=A"
  destroy_path  = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=mercury&Type=A"
  read_search = {
    results_key  = "result"
    search_key   = "name"
    search_value = "mercury"
    search_patch = jsonencode([{ op = "copy", from = "/ttl", path = "/timeToLive" }])
  }
  ignore_server_additions = true
  data = jsonencode({
    data       = var.addresses
    timeToLive = 600
  })
}

resource "restapi_object" "alias" {
  path          = "/DnsRecordSet"
  object_id     = "merkur.corp.example CNAME"
  create_method = "PUT"
  create_path   = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=merkur&Type=CNAME"
  read_path     = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=merkur&Type=CNAME"
  update_path   = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=merkur&Type=CNAME"
  destroy_path  = "/DnsRecordSet?ZoneName=corp.example&DNS_HostName=merkur&Type=CNAME"
  read_search = {
    results_key  = "result"
    search_key   = "name"
    search_value = "merkur"
  }
  ignore_server_additions = true
  data = jsonencode({
    data = ["mercury.corp.example"]
  })
}
