get "extra", to: "pages#extra"
