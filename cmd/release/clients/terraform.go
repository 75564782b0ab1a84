package clients

import "embed"

//go:embed terraform/*.tf
var terraform embed.FS

// Terraform returns the examples for Terraform by file name.
func Terraform() (map[string][]byte, error) {
	rows, err := terraform.ReadDir("terraform")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, row := range rows {
		if out[row.Name()], err = terraform.ReadFile("terraform/" + row.Name()); err != nil {
			return nil, err
		}
	}
	return out, nil
}
