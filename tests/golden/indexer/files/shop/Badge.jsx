import React from "react";
import { formatPrice } from "./client";

/** Colours of the states that an order goes through. */
export const COLOURS = { open: "orange", paid: "green", sent: "grey" };

/**
 * A small label beside an order. Says what state it is in.
 */
export function Badge({ order, onSelect }) {
  const colour = COLOURS[order.state] || "black";
  return (
    <button className="badge" style={{ color: colour }} onClick={() => onSelect(order.id)}>
      {order.state} <em>{formatPrice(order.total)}</em>
    </button>
  );
}

export class BadgeList extends React.Component {
  state = { selected: null };

  select = (id) => {
    this.setState({ selected: id });
  };

  render() {
    const { orders } = this.props;
    return (
      <ul>
        {orders.map((order) => (
          <li key={order.id} className={order.id === this.state.selected ? "on" : ""}>
            <Badge order={order} onSelect={this.select} />
          </li>
        ))}
      </ul>
    );
  }
}

export default BadgeList;
