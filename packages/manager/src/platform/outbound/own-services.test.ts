import { expect, test } from 'vitest'
import { type OwnService, ownServicesOf } from './own-services.ts'

const redis = { host: 'redis.internal', port: 6379 }
const health = { host: '0.0.0.0', port: 8081 }
const single = { redisMode: 'single', redisNodes: [], healthPort: 8081 } as const
const servicesOf = (
  addresses: Partial<Parameters<typeof ownServicesOf>[0]>,
  masters: string[] = [],
): OwnService[] => {
  const none = { databaseUrl: 'postgres://db.internal/manager', redisUrl: 'redis://redis.internal' }
  return [...ownServicesOf({ ...single, ...none, healthHost: '', ...addresses }, () => masters)]
}
const servicesWith = (databaseUrl: string) =>
  servicesOf({ databaseUrl, redisUrl: 'redis://redis.internal', healthHost: '0.0.0.0' })

test.each([
  ['postgres://svc:secret@db.internal/manager', { host: 'db.internal', port: 5432 }],
  ['postgres://svc:secret@db.internal:6000/manager', { host: 'db.internal', port: 6000 }],
  ['postgres://svc@[fd12::5]:6000/manager', { host: 'fd12::5', port: 6000 }],
  // The driver prefers what the query says.
  ['postgres://svc@front.internal/manager?host=db.internal&port=6001', { host: 'db.internal', port: 6001 }],
  ['postgres:///manager?host=db.internal', { host: 'db.internal', port: 5432 }],
])('the database of %s is where the driver connects', (url, database) => {
  expect(servicesWith(url)).toEqual([database, redis, health])
})

test('a socket file is no host', () => {
  expect(servicesWith('postgres:///manager?host=/run/postgresql')).toEqual([redis, health])
})

test.each([
  ['redis://:secret@127.0.0.1:6390/1', { host: '127.0.0.1', port: 6390 }],
  ['rediss://redis.internal', { host: 'redis.internal', port: 6379 }],
  ['redis://[::1]:6390', { host: '[::1]', port: 6390 }],
])('Redis of %s is read', (redisUrl, expected) => {
  expect(servicesOf({ redisUrl }, [`${expected.host}:${expected.port}`]).slice(1)).toEqual([expected])
})

test.each(['sentinel', 'cluster'] as const)(
  'with %s, all that are named and the present masters are Redis',
  (redisMode) => {
    const masters = ['10.0.0.9:7000']
    const services = servicesOf(
      { redisMode, redisNodes: ['[fd12::5]:7001'], redisMasterName: 'main' },
      masters,
    )
    expect(services.slice(1)).toEqual([
      redis,
      { host: '[fd12::5]', port: 7001 },
      { host: '10.0.0.9', port: 7000 },
    ])
  },
)
