// Package classic replays the calls of clients of the older interface family, its Terraform provider
// and its generated client. They send every optional argument, empty if the user has not set it.
package classic
