import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Button } from "../Button";

describe("Button", () => {
  it.each(["primary", "secondary", "quiet"] as const)("renders the %s variant", (variant) => {
    const { container } = render(<Button variant={variant}>Book a berth</Button>);
    expect(container.firstChild).toMatchSnapshot();
  });

  it("calls back when clicked", async () => {
    const onClick = jest.fn();
    render(<Button onClick={onClick}>Book a berth</Button>);
    await userEvent.click(screen.getByRole("button", { name: "Book a berth" }));
    expect(onClick).toHaveBeenCalledTimes(1);
  });
});
