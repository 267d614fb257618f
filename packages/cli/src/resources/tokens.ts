import { createTokenDocument, deleteTokenDocument, listMyTokensDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const tokens: Resource = {
  name: 'tokens',
  singular: 'token',
  description: 'Your personal access tokens',
  parent: null,
  keys: ['name'],
  columns: ['name', 'tokenPrefix', 'expiresAt', 'lastUsedAt', 'revoked', 'id'],
  fields: [
    {
      name: 'expiresAt',
      description: 'when the token expires, such as 2030-01-31 or 2030-01-31T12:00:00Z',
      kind: 'time',
    },
  ],
  list: { document: listMyTokensDocument },
  create: { document: createTokenDocument, isFlat: true, row: 'personalAccessToken', secret: 'token' },
  delete: { document: deleteTokenDocument },
  example: 'pipeline --token-file pipeline.token',
}
