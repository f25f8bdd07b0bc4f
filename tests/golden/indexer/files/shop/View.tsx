import React from "react";

interface Props {
  title: string;
}

/** Shows one cart. */
export const CartView: React.FC<Props> = ({ title }) => {
  return (
    <section>
      <h1>{title}</h1>
    </section>
  );
};

export default function App() {
  return <CartView title="Cart" />;
}
