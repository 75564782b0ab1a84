variable "username" {
  type    = string
  default = "jweber"
}

variable "job_title" {
  type    = string
  default = "Clerk"
}

# In a path, a space is %20.
locals {
  user = replace(urlencode(var.username), "+", "%20")
}

# An account without a password is disabled, so the state contains no password. Somebody else sets it later.
resource "restapi_object" "user" {
  path         = "/ADUser/${local.user}"
  object_id    = var.username
  create_path  = "/ADUser/${local.user}"
  read_path    = "/ADUser/${local.user}/Details"
  update_path  = "/ADUser/${local.user}"
  destroy_path = "/ADUser/${local.user}"
  read_search = {
    results_key  = "result"
    search_key   = "username"
    search_value = var.username
  }
  ignore_server_additions = true
  data = jsonencode({
    firstName  = "Jörg"
    lastName   = "Weber"
    jobTitle   = var.job_title
    department = "Sales & Service"
    ouPath     = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
  })
}

# The parameters of a group have other names than the fields of its record. A patch copies them.
resource "restapi_object" "group" {
  path         = "/ADGroups/Project%20Mercury"
  object_id    = "Project Mercury"
  create_path  = "/ADGroups/Project%20Mercury/Security"
  read_path    = "/ADGroups/Project%20Mercury"
  update_path  = "/ADGroups/Project%20Mercury"
  destroy_path = "/ADGroups/Project%20Mercury/Remove"
  read_search = {
    results_key  = "result"
    search_key   = "samName"
    search_value = "Project Mercury"
    search_patch = jsonencode([
      { op = "copy", from = "/scope", path = "/groupScope" },
      { op = "copy", from = "/description", path = "/groupDescription" },
    ])
  }
  ignore_server_additions = true
  data = jsonencode({
    groupScope       = "Global"
    groupDescription = "May see Mercury"
  })
}

# A membership has no values, so it cannot be updated.
resource "restapi_object" "membership" {
  path         = "/ADUser/${local.user}/Group/Project%20Mercury"
  object_id    = "${var.username}/Project Mercury"
  create_path  = "/ADUser/${local.user}/Group/Project%20Mercury"
  read_path    = "/ADUser/${local.user}/Group/Project%20Mercury"
  update_path  = "/ADUser/${local.user}/Group/Project%20Mercury"
  destroy_path = "/ADUser/${local.user}/Group/Project%20Mercury"
  read_search = {
    results_key  = "result"
    search_key   = "samName"
    search_value = "Project Mercury"
  }
  ignore_server_additions = true
  data                    = jsonencode({})
  depends_on              = [restapi_object.user, restapi_object.group]
}
