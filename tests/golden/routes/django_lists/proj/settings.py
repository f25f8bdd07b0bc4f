SECRET_KEY = "x"
ROOT_URLCONF = "proj.urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes"]
