// These tests check that the duration of a rejection does not reveal whether a user exists.
import { beforeAll, describe, expect, test } from 'vitest'
import { createMachine } from '@manager/harness/credentials.ts'
import { useProject } from '../../../test/kit/project.ts'
import { password, proxyCredentials, username } from '../../../test/kit/proxy-credentials.ts'

let machine: { id: string; token: string }

const { service, admin, project } = useProject()
beforeAll(async () => {
  machine = await bearerMachine()
  await createMachine(service, admin, project.environmentId, { username, password })
})

const { bearerMachine, expectOneHashPerRefusal } = proxyCredentials(() => ({ service, admin, project }))

describe('a credential that does not hold', () => {
  test('[proxy-auth.invalid] an unknown user, a disabled one and a wrong password all cost one run of the slow hash', async () => {
    await expectOneHashPerRefusal(machine.token, async (refuse) => {
      const start = performance.now()
      await refuse()
      // 600,000 iterations take longer on any machine, so a shortcut for unknown users would be visible.
      expect(performance.now() - start).toBeGreaterThan(30)
    })
  })
})
