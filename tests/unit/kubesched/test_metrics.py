"""What a scheduler that works leaves in its metrics."""

from __future__ import annotations

from live import running

from kubesched.testing.builders import node, pod

PROFILE = {"profile": "default-scheduler"}


async def test_extension_points_are_timed_on_every_attempt_and_plugins_on_every_tenth():
    async with running() as live:
        live.put(*(node(f"n{index}").cpu(100).pods(200) for index in range(3)))
        live.put(*(pod(f"p{index}").cpu(1) for index in range(21)))
        await live.settle(400)
        name = "scheduler_framework_extension_point_duration_seconds_count"
        for point in ("PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "Bind", "PostBind"):
            assert live.metric(name, extension_point=point, status="Success", **PROFILE) == 21, point
        one = "scheduler_plugin_execution_duration_seconds_count"
        bound = live.metric(one, plugin="DefaultBinder", extension_point="Bind", status="Success")
        assert bound == 3, "the first, the eleventh and the twenty-first"


async def test_evaluations_count_nodes_for_filters_and_scores_and_attempts_elsewhere():
    """Two pods on three nodes, of which NodeName leaves one for the second pod."""
    async with running() as live:
        live.put(*(node(f"n{index}").cpu(100).pods(200) for index in range(3)))
        live.put(pod("p").cpu(1), pod("big").cpu(101))
        await live.settle()
        name = "scheduler_plugin_evaluation_total"

        def count(plugin: str, point: str) -> float:
            return live.metric(name, plugin=plugin, extension_point=point, **PROFILE)

        assert count("NodeResourcesFit", "PreFilter") == 2
        assert count("NodeResourcesFit", "Filter") == 6
        assert count("NodeName", "Filter") == 6
        assert count("NodeResourcesFit", "Score") == 3
        assert count("NodeResourcesBalancedAllocation", "PreScore") == 1
        after = [plugin.name for plugin in live.core.profiles["default-scheduler"].filters]
        later = after[after.index("NodeResourcesFit") + 1]
        assert count(later, "Filter") in {0, 3}, "the pod that fits nowhere never got there"


async def test_hints_preemptions_and_events_in_flight_are_measured():
    async with running() as live:
        live.put(node("n").cpu(8).pods(10), pod("low").on("n").cpu(8).with_priority(1))
        live.put(pod("high").cpu(8).with_priority(9))
        await live.settle()
        assert live.api.evicted == ["low"]
        assert live.metric("scheduler_preemption_attempts_total") == 1
        assert live.metric("scheduler_preemption_victims_count") == 1
        assert live.metric("scheduler_preemption_goroutines_execution_total", result="success") == 1
        live.gone(pod("low").on("n").cpu(8).with_priority(1))
        await live.settle()
        hints = "scheduler_queueing_hint_execution_duration_seconds_count"
        assert live.metric(hints, plugin="NodeResourcesFit", event="AssignedPodDelete", hint="Queue") >= 1
        assert live.metric("scheduler_inflight_events", event="PodPopped") == 0
