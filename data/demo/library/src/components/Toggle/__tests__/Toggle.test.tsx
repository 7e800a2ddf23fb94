import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Toggle } from "../Toggle";

const noop = () => {};

describe("Toggle", () => {
  it("renders on", () => {
    const { container } = render(<Toggle label="Night lights" on onChange={noop} />);
    expect(container.firstChild).toMatchSnapshot();
  });

  it("renders off", () => {
    const { container } = render(<Toggle label="Night lights" on={false} onChange={noop} />);
    expect(container.firstChild).toMatchSnapshot();
  });

  it("renders disabled", () => {
    const { container } = render(<Toggle label="Night lights" on={false} disabled onChange={noop} />);
    expect(container.firstChild).toMatchSnapshot();
  });

  it("reports the other state when clicked", async () => {
    const onChange = jest.fn();
    render(<Toggle label="Night lights" on onChange={onChange} />);
    await userEvent.click(screen.getByText("Night lights"));
    expect(onChange).toHaveBeenCalledWith(false);
  });
});
