package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"
	"example.com/shop/users"
)

func ginMain() {
	r := gin.Default()
	r.GET("/ping", ping)
	v1 := r.Group("/v1")
	{
		v1.POST("/login", login)
		users.Register(v1.Group("/users"))
	}
	h := &Handler{}
	h.Routes(r)
	r.Handle(http.MethodPut, "/put", ping)
	r.GET("/inline", func(c *gin.Context) { c.JSON(200, nil) })
}

type Handler struct{ mux *http.ServeMux }

func (h *Handler) Routes(r *gin.Engine) {
	r.DELETE("/things/:id", h.drop)
}
func (h *Handler) drop(c *gin.Context) {}
func ping(c *gin.Context)              {}
func login(c *gin.Context)             {}

func chiMain() http.Handler {
	r := chi.NewRouter()
	r.Use(nil)
	r.Get("/", index)
	r.Route("/articles", func(r chi.Router) {
		r.With(paginate).Get("/", index)
		r.Route("/{id}", func(r chi.Router) {
			r.Put("/", show)
		})
		r.Group(func(r chi.Router) { r.Post("/search", show) })
	})
	r.Mount("/admin", users.AdminRouter())
	r.Method("PATCH", "/m", http.HandlerFunc(show))
	return r
}
func paginate(next http.Handler) http.Handler        { return next }
func index(w http.ResponseWriter, r *http.Request) {}
func show(w http.ResponseWriter, r *http.Request)  {}

func stdMain() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /std/{id}", show)
	mux.Handle("/old", http.HandlerFunc(index))
	http.HandleFunc("/default", index)
	api := http.NewServeMux()
	api.HandleFunc("POST /orders", show)
	mux.Handle("/api/", http.StripPrefix("/api", api))
	e := echo.New()
	g := e.Group("/echo")
	g.GET("/x", echoX, nil)
}
func echoX(c echo.Context) error { return nil }
