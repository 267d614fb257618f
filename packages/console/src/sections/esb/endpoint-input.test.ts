import { expect, test } from 'vitest'
import { readEndpointValues, toEndpointInput } from './endpoint-input.ts'
import type { Endpoint } from './endpoint-types.ts'

const stored: Endpoint = {
  id: 'e',
  name: 'Orders',
  description: '',
  enabled: true,
  consumeURL: '/orders',
  url: 'https://partner.example/orders',
  authType: 'Basic',
  authUsername: 'shop',
  inputMessageType: 'JSON',
  outputMessageType: null,
  transformationTemplate: '',
  logLevel: 'FULL',
  createdAt: '2026-11-15T08:00:00Z',
  updatedAt: '2026-11-15T08:00:00Z',
  revision: 3,
  application: { id: 'a', name: 'Shop' },
}
const values = readEndpointValues(stored)

test('unchanged values keep the stored secret', () => {
  expect(toEndpointInput(values, stored)).toEqual({
    name: 'Orders',
    description: '',
    consumeURL: '/orders',
    url: 'https://partner.example/orders',
    authType: 'Basic',
    authUsername: 'shop',
    inputMessageType: 'JSON',
    outputMessageType: null,
    logLevel: 'FULL',
  })
})

test('a typed secret replaces the stored one, and only the one that is used', () => {
  const typed = { ...values, authPassword: 'new', authToken: 'unused' }
  expect(toEndpointInput(typed, stored)).toMatchObject({ authPassword: 'new' })
  expect(toEndpointInput(typed, stored)).not.toHaveProperty('authToken')
})

test('another kind of authentication clears the secret and the user name that are no longer used', () => {
  const bearer = toEndpointInput({ ...values, authType: 'Bearer', authToken: 't' }, stored)
  expect(bearer).toMatchObject({ authType: 'Bearer', authUsername: '', authPassword: '', authToken: 't' })
  const none = toEndpointInput({ ...values, authType: 'None' }, { ...stored, authType: 'Bearer' })
  expect(none).toMatchObject({ authType: 'None', authUsername: '', authToken: '' })
  expect(none).not.toHaveProperty('authPassword')
})

test('a new endpoint sends no secret that was not typed, and no empty target', () => {
  const input = toEndpointInput({ ...readEndpointValues(null), name: 'n', url: ' ' }, null)
  expect(input).toMatchObject({ name: 'n', consumeURL: '/', url: null, authType: 'None', logLevel: 'BASIC' })
  expect(input).not.toHaveProperty('authPassword')
  expect(input).not.toHaveProperty('authToken')
})
