// Package classic replays the calls of two clients of the older interface family, its Terraform provider and
// its generated client. Both send every optional argument, with an empty value if the user has not set it.
package classic
