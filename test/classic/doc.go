// Package classic replays the calls of clients of the older interface family: those
// that its Terraform provider and its generated client send, with every optional
// argument given and empty where it is not filled in.
package classic
