"""Task space: the dynamics of a robot as its frames feel it (MR §8.6; Khatib 1987)."""

from torsor.task.report import TaskReport
from torsor.task.task import Task, TaskForce

__all__ = ["Task", "TaskForce", "TaskReport"]
