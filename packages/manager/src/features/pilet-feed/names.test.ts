// These tests check that valid names and versions survive the round trip: upload, link in the feed, bundle.
import { test } from 'vitest'
import { expectNamesToRoundTrip } from '../../../test/kit/pilet-names.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, admin } = useProject()

test('[pilet-feed.link] 300 random names and versions: every link is percent-encoded, and leads to its own bytes', async () => {
  await expectNamesToRoundTrip(service, admin, 300)
})
