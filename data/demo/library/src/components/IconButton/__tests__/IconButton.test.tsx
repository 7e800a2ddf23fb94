import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { IconButton } from "../IconButton";

describe("IconButton", () => {
  it("shows the label as a tooltip", () => {
    const { container } = render(<IconButton label="Remove berth" icon="×" />);
    expect(container.firstChild).toHaveAttribute("data-tooltip", "Remove berth");
  });

  it("calls back when clicked", async () => {
    const onClick = jest.fn();
    const { container } = render(<IconButton label="Remove berth" icon="×" onClick={onClick} />);
    await userEvent.click(container.querySelector("button")!);
    expect(onClick).toHaveBeenCalledTimes(1);
  });
});
