// Round trips of many random projects through export and apply.
import { test } from 'vitest'
import { expectRoundTrip } from './kit/round-trip.ts'
import { useSvc } from './kit/svc.ts'

const kit = useSvc()
const timeoutMs = 1_800_000

test(
  '200 random projects return from an empty project with the same text',
  async () => {
    for (let seed = 1; seed <= 200; seed++) await expectRoundTrip(kit, seed)
  },
  timeoutMs,
)
