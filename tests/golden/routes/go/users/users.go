package users

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
)

func Register(g *gin.RouterGroup) {
	g.GET("", list)
	g.GET("/:id", list)
}
func list(c *gin.Context) {}

func AdminRouter() chi.Router {
	r := chi.NewRouter()
	r.Get("/stats", stats)
	return r
}
func stats(w http.ResponseWriter, r *http.Request) {}
