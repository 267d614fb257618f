import { createScimTokenDocument, listScimTokensDocument } from '@manager/client/documents'
import type { Row } from '../output.ts'
import type { Resource } from '../resource.ts'

export const scimTokens: Resource = {
  name: 'scim-tokens',
  singular: 'SCIM token',
  aliases: ['scim-token'],
  description: 'SCIM tokens: the credentials of identity providers',
  parent: null,
  keys: ['name'],
  columns: ['name', 'tokenPrefix', 'expiresAt', 'lastUsedAt', 'revokedAt', 'creator'],
  formatRow: (row) => ({ ...row, creator: (row['creator'] as Row | null)?.['externalUsername'] }),
  fields: [
    {
      name: 'expiresAt',
      description: 'when the token expires, such as 2030-01-31 (default: in 365 days)',
      kind: 'time',
    },
  ],
  list: { document: listScimTokensDocument },
  create: { document: createScimTokenDocument, isFlat: true, row: 'scimToken', secret: 'token' },
  example: 'okta --token-file okta.token',
}
