// How long a refusal takes says nothing about who exists.
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

const { bearerMachine, expectOneRunEach } = proxyCredentials(() => ({ service, admin, project }))

describe('a credential that does not hold', () => {
  test('[proxy-auth.invalid] an unknown user, a disabled one and a wrong password all cost one run of the slow hash', async () => {
    await expectOneRunEach(machine.token, async (refuse) => {
      const start = performance.now()
      await refuse()
      // No machine does 600,000 iterations in less: a cheaper run for who does not exist would show.
      expect(performance.now() - start).toBeGreaterThan(30)
    })
  })
})
