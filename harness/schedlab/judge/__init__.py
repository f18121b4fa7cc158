"""What a scheduler may do, said once more in the plainest way: no scores, no texts, no speed.

The judge is a deliberate twin of kubesched. It shares nothing with it, so that a mistake would have to be
made twice, in two different ways, and in kube-scheduler too, to go unseen.
"""
