import { expect, test } from 'vitest'
import { type OwnService, listOwnServices } from './own-services.ts'

const redis = { host: 'redis.internal', port: 6379 }
const health = { host: '0.0.0.0', port: 8081 }
const single = { redisMode: 'single', redisNodes: [], healthPort: 8081, optionalUrls: [] } as const
const servicesOf = (
  addresses: Partial<Parameters<typeof listOwnServices>[0]>,
  masters: string[] = [],
): OwnService[] => {
  const none = { databaseUrl: 'postgres://db.internal/manager', redisUrl: 'redis://redis.internal' }
  return [...listOwnServices({ ...single, ...none, healthHost: '', ...addresses }, () => masters)]
}
const servicesWith = (databaseUrl: string) =>
  servicesOf({ databaseUrl, redisUrl: 'redis://redis.internal', healthHost: '0.0.0.0' })

test.each([
  ['postgres://svc:secret@db.internal/manager', { host: 'db.internal', port: 5432 }],
  ['postgres://svc:secret@db.internal:6000/manager', { host: 'db.internal', port: 6000 }],
  ['postgres://svc@[fd12::5]:6000/manager', { host: 'fd12::5', port: 6000 }],
  // The driver prefers the query parameters.
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

test('what an installation may have is read with the ports of its schemes, and may be absent', () => {
  const optionalUrls = [
    'https://bucket.internal',
    'http://collector.internal:4318/otlp',
    'http://10.0.0.8',
    'https://[fd12::9]:6443/clusters/a',
    'ldaps://ldap-1.internal',
    'ldap://ldap-2.internal',
    'ldap://ldap-3.internal:1389',
  ]
  expect(servicesOf({ optionalUrls }).slice(2)).toEqual([
    { host: 'bucket.internal', port: 443, isOptional: true },
    { host: 'collector.internal', port: 4318, isOptional: true },
    { host: '10.0.0.8', port: 80, isOptional: true },
    { host: '[fd12::9]', port: 6443, isOptional: true },
    { host: 'ldap-1.internal', port: 636, isOptional: true },
    { host: 'ldap-2.internal', port: 389, isOptional: true },
    { host: 'ldap-3.internal', port: 1389, isOptional: true },
  ])
})
