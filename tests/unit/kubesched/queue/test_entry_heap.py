"""The heap gives entries in order whatever was removed or changed in between."""

from __future__ import annotations

from functools import cmp_to_key

from hypothesis import given
from hypothesis import strategies as st
from queue_world import a_pod, by_priority

from kubesched.queue.entry import Entry
from kubesched.queue.heap import EntryHeap

OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["push", "pop", "remove", "reprioritise"]), st.integers(0, 7), st.integers(0, 3)
    ),
    max_size=60,
)


def in_order(entries: list[Entry]) -> list[str]:
    def compare(left: Entry, right: Entry) -> int:
        if by_priority(left, right):
            return -1
        return 1 if by_priority(right, left) else left.order - right.order

    return [entry.uid for entry in sorted(entries, key=cmp_to_key(compare))]


@given(OPERATIONS)
def test_heap_agrees_with_a_sorted_list(operations) -> None:
    """After any pushes, pops, removals and reorderings the pops come in sorted order."""
    heap, model = EntryHeap(by_priority), {}
    for order, (operation, which, priority) in enumerate(operations):
        uid = f"uid-{which}"
        if operation == "push" and uid not in model:
            model[uid] = Entry(uid, a_pod(str(which), priority), timestamp=order // 4, order=order)
            heap.push(model[uid])
        elif operation == "pop":
            popped = heap.pop()
            assert (popped.uid if popped else None) == next(iter(in_order(list(model.values()))), None)
            if popped:
                del model[popped.uid]
        elif operation == "remove":
            assert heap.remove(uid) is model.pop(uid, None)
        elif operation == "reprioritise" and uid in model:
            model[uid].pod = a_pod(str(which), priority)
            heap.reorder(uid)
        assert len(heap) == len(model)
        assert {entry.uid for entry in heap} == model.keys()
        assert heap.get(uid) is model.get(uid)
    expected = in_order(list(model.values()))
    assert [heap.pop().uid for _ in expected] == expected


def test_equal_entries_leave_in_the_order_they_were_stamped() -> None:
    """Ties are first come, first served, also when the heap is used in any other order."""
    heap = EntryHeap(lambda _left, _right: False)
    for order in (3, 0, 4, 1, 2):
        heap.push(Entry(f"uid-{order}", a_pod(str(order)), timestamp=0.0, order=order))
    assert [heap.pop().order for _ in range(5)] == [0, 1, 2, 3, 4]


def test_comparisons_grow_with_the_logarithm() -> None:
    """With 10,000 entries no operation compares more than a few times the tree's depth."""
    compared = 0

    def less(left: Entry, right: Entry) -> bool:
        nonlocal compared
        compared += 1
        return by_priority(left, right)

    heap = EntryHeap(less)
    for order in range(10_000):
        heap.push(Entry(f"uid-{order}", a_pod(str(order), order * 7919 % 101), 0.0, order))
    worst = 0
    for order in range(0, 10_000, 100):
        compared = 0
        heap.remove(f"uid-{order}")
        worst = max(worst, compared)
        compared = 0
        heap.pop()
        worst = max(worst, compared)
    assert worst <= 2 * 14
