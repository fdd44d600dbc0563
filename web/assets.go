package web

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"leaderboard/static"
)

// sendStatic answers with a stylesheet, a module or a picture.
func sendStatic(c *fiber.Ctx) error {
	file, ok := static.Find(c.Path())
	if !ok {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderETag, file.ETag)
	c.Set(fiber.HeaderCacheControl, file.CacheControl)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if file.Public {
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
	}
	if strings.Contains(c.Get(fiber.HeaderIfNoneMatch), file.ETag) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, file.Type)
	body := file.Body
	if file.Gzipped != nil && c.AcceptsEncodings("gzip") != "" {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		body = file.Gzipped
	}
	c.Response().SetBodyRaw(body)
	return nil
}
