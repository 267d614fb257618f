// Saves the tokens of the current filter as CSV. The rows are in the page already.
import type { ReactNode } from 'react'
import { saveCsv } from '../../app/csv.ts'
import type { OwnedToken } from '../../app/token-state.ts'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'

const heads = ['id', 'name', 'prefix', 'person', 'email', 'revoked', 'expiresAt', 'lastUsedAt', 'createdAt']

const toCells = (token: OwnedToken): readonly string[] => [
  token.id,
  token.name,
  `pat_${token.tokenPrefix}`,
  token.user.externalName,
  token.user.externalEmail,
  String(token.revoked),
  token.expiresAt ?? '',
  token.lastUsedAt ?? '',
  token.createdAt,
]

export function TokenExport({ tokens }: { tokens: readonly OwnedToken[] }): ReactNode {
  const t = useText()
  return (
    <Button
      icon="download"
      onPress={() => {
        saveCsv('tokens.csv', [heads, ...tokens.map(toCells)])
        showToast(t('app.exported', tokens.length))
      }}
    >
      {t('app.exportCsv')}
    </Button>
  )
}
