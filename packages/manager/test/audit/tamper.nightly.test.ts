// Tests random tampering with the audit trail, with as many attempts as the documentation promises.
import { afterEach, beforeEach, describe, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { expectPassesFindAll, expectWholeVerificationFindsAll } from '../kit/random-tampering.ts'

const chainId = '01a1dce9-d14b-710f-8362-6ebef3620ecb'
let service: TestApp
beforeEach(async () => {
  service = await startTestApp()
})
afterEach(() => service.close())

describe('verification', () => {
  test('[audit-append.chain-status] 1,000 random tamperings are all detected, each at the right row', () =>
    expectWholeVerificationFindsAll(service, chainId, 1_000))
})

test('[audit-append.chain-status] 1,000 random tamperings are all found by one of the two passes, each at the right row', () =>
  expectPassesFindAll(service, chainId, 1_000))
