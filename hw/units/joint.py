"""Ways to build units of several instructions: the circuits of `hw.joint`, and their meanings."""

from __future__ import annotations

from hw.joint import AUTO, MERGED, Way, joints
from hw.units import register

for _joint in joints():
    register(table=_joint.unit, name=AUTO, source="what is smaller, and no slower")(Way(AUTO))
    register(table=_joint.unit, name=MERGED, source="the meanings, merged")(Way(MERGED))
    register(table=_joint.unit, name=_joint.name, source=_joint.source)(Way(_joint.name))
