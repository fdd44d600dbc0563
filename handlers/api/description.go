package api

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

//go:embed openapi.yaml
var openAPI string // a string: nobody can change it

// OpenAPIYAML returns the description of the API.
func OpenAPIYAML() []byte { return []byte(openAPI) }

// OpenAPI answers with the description of the API.
func OpenAPI(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/yaml")
	return c.SendString(openAPI)
}
