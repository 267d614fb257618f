// These tests check that valid names and versions survive the round trip: upload, link in the feed, bundle.
import { test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { expectNamesToRoundTrip } from '../../../test/kit/pilet-names.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin } = useProject()

test('[pilet-feed.link] random names and versions, 10,000 with LOAD_SIZE=full: every link is percent-encoded, and leads to its own bytes', async () => {
  await expectNamesToRoundTrip(service, admin, loadSize(1_000, 10_000))
}, 900_000)
