import { expect, test } from 'vitest'
import { jobConnections } from '../../src/platform/postgres/pools.ts'
import { minimalEnv, load } from '../kit/config.ts'

test('a process opens at most 15 connections to the database by default', () => {
  const { databasePoolSize, databaseLookupPoolSize, databaseReportPoolSize } = load(minimalEnv)
  const readiness = 1
  const sum = databasePoolSize + databaseLookupPoolSize + databaseReportPoolSize + jobConnections + readiness
  expect(sum).toBe(15)
})
