import type { Resource } from '../resource.ts'

export const tokens: Resource = {
  name: 'tokens',
  one: 'token',
  description: 'Your personal access tokens',
  parent: null,
  keys: ['name'],
  selection: 'id name tokenPrefix expiresAt createdAt lastUsedAt revoked',
  columns: ['name', 'tokenPrefix', 'expiresAt', 'lastUsedAt', 'revoked', 'id'],
  fields: [{ name: 'expiresAt', description: 'when it ends, such as 2030-01-31T00:00:00Z' }],
  list: { field: 'myPersonalAccessTokens' },
  create: {
    field: 'createPersonalAccessToken',
    types: { name: 'String!', expiresAt: 'String' },
    row: 'personalAccessToken',
    secret: 'token',
  },
  delete: { field: 'deletePersonalAccessToken' },
  example: 'pipeline --token-file pipeline.token',
}
