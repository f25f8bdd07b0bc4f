{-# LANGUAGE OverloadedStrings #-}

-- | The articles of a shop.
module Shop.Catalog
  ( Catalog
  , Article (..)
  , find
  , insert
  ) where

import qualified Data.Map.Strict as Map
import Data.Text (Text)

-- | One thing that can be bought.
data Article = Article
  { articleName :: Text
  , articlePrice :: Int
  }
  deriving (Eq, Show)

newtype Catalog = Catalog (Map.Map Text Article)

type Price = Int

-- | What has a price.
class Priced a where
  price :: a -> Price
  price _ = 0

instance Priced Article where
  price = articlePrice

-- | Looks an article up by its name.
find :: Text -> Catalog -> Maybe Article
find name (Catalog articles) = Map.lookup name articles

-- | Adds an article, or replaces the one of the same name.
insert :: Article -> Catalog -> Catalog
insert article (Catalog articles)
  | price article < 0 = Catalog articles
  | otherwise = Catalog (Map.insert (articleName article) article articles)

total :: [Article] -> Price
total [] = 0
total (x : xs) = price x + total xs

defaultLimit :: Int
defaultLimit = 100
