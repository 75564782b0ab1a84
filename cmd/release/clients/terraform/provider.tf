# Users, groups, memberships and DNS through the provider Mastercard/restapi, which makes REST calls.
# Parameters that have the name of a field are written in the case of that field, so the provider detects
# drift.

terraform {
  required_providers {
    restapi = {
      source  = "Mastercard/restapi"
      version = "~> 3.0"
    }
  }
}

variable "gateway_url" {
  type        = string
  description = "The address of the gateway without /api, such as https://gateway.corp.example:8443."
}

variable "gateway_token" {
  type        = string
  sensitive   = true
  description = "A token in the standard dialect, whose changes need no guard (requireGuard)."
}

variable "gateway_ca_file" {
  type        = string
  default     = null
  description = "A file with the authority of the gateway's certificate, in PEM."
}

provider "restapi" {
  uri          = "${var.gateway_url}/api"
  bearer_token = var.gateway_token
  root_ca_file = var.gateway_ca_file
  test_path    = "/WhoAmI"
  timeout      = 120
}
