def test_x(tiny):
    for name, one in tiny.outcomes.items():
        print(name, one if hasattr(one,'reason') else (one.f2p_tests, one.n2p_tests, one.quarantine, one.deviations, one.snapshot_only))
    print(tiny.sandbox.opened.__len__())
