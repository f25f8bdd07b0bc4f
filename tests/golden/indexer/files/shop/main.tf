variable "region" {
  type    = string
  default = "eu-central-1"
}

# Where pictures are kept.
resource "aws_s3_bucket" "pictures" {
  bucket = "shop-pictures"
}

module "network" {
  source = "./network"
}

locals {
  name = "shop"
}
