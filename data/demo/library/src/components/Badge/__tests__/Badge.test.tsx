import { render, screen } from "@testing-library/react";
import { Badge } from "../Badge";

describe("Badge", () => {
  it("shows the count", () => {
    render(<Badge count={7} />);
    expect(screen.getByText("7")).toBeVisible();
  });
});
