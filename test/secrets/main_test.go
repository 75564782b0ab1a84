package secrets

import (
	"testing"

	"adgateway/test/systemtest"
)

func TestMain(m *testing.M) { systemtest.Main(m) }
