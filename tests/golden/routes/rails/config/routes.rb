Rails.application.routes.draw do
  root "pages#home"

  get "/about", to: "pages#about", as: :about
  get "help" => "pages#help"
  get "pages/terms"
  match "search", via: [:get, :post], to: "pages#search"
  get "/old", to: redirect("/about")
  get "/#{COMPUTED}", to: "pages#about"

  concern :commentable do
    resources :comments, only: :index
  end

  resources :orders, only: [:index, :show, :create], concerns: :commentable do
    member do
      post :pay
    end
    collection { get :recent }
    get :refund, on: :member
    get :audit
    resources :lines, path: "items", param: :number, except: %i[new edit show update] do
      patch :move
    end
  end

  namespace :admin do
    root to: "orders#index"
    resource :profile, only: %i[show update]
    resources :orders, only: [:destroy]
  end

  scope "/api", module: "api", defaults: { format: :json } do
    scope module: :v1, path: "v1" do
      resources :orders, only: :index
      controller :orders do
        post "orders/import", action: :import
      end
    end
  end

  if Rails.env.development?
    get "/debug", to: "pages#about"
  end

  draw :extra
end
