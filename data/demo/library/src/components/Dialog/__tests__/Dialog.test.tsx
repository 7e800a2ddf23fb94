import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Dialog } from "../Dialog";

describe("Dialog", () => {
  it("is named by its title", () => {
    render(
      <Dialog title="Give up the berth?" onClose={() => {}}>
        Are you sure?
      </Dialog>,
    );
    expect(screen.getByRole("dialog", { name: "Give up the berth?" })).toBeVisible();
  });

  it("closes with Escape", async () => {
    const onClose = jest.fn();
    render(
      <Dialog title="Give up the berth?" onClose={onClose}>
        Are you sure?
      </Dialog>,
    );
    await userEvent.keyboard("{Escape}");
    expect(onClose).toHaveBeenCalledTimes(1);
  });
});
