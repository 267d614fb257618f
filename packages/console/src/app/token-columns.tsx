// The columns of tables of personal access tokens.
import { type DataColumn, TwoLines } from '../kit/data-table.tsx'
import { Time } from '../kit/values.tsx'
import type { Translate } from '../texts/texts.ts'
import type { AccessToken } from './token-state.ts'
import { TokenExpiry, TokenStatus, formatPrefix } from './token-status.tsx'

/** Returns the columns of the tokens of one person. */
export const createTokenColumns = (t: Translate): readonly DataColumn<AccessToken>[] => [
  {
    id: 'name',
    title: t('token.name'),
    sortField: 'name',
    width: '3fr',
    minWidth: 120,
    isRowHeader: true,
    priority: 1,
    render: (token) => <TwoLines first={token.name} second={formatPrefix(token)} />,
  },
  {
    id: 'status',
    title: t('token.status'),
    width: '2fr',
    minWidth: 184,
    priority: 1,
    render: (token) => <TokenStatus token={token} />,
  },
  {
    id: 'lastUsedAt',
    title: t('token.lastUsed'),
    sortField: 'lastUsedAt',
    align: 'end',
    minWidth: 112,
    priority: 2,
    render: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
  },
  {
    id: 'expiresAt',
    title: t('token.expires'),
    sortField: 'expiresAt',
    align: 'end',
    minWidth: 120,
    priority: 3,
    render: ({ expiresAt }) => <TokenExpiry expiresAt={expiresAt} />,
  },
  {
    id: 'createdAt',
    title: t('token.created'),
    sortField: 'createdAt',
    align: 'end',
    minWidth: 112,
    priority: 3,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]
