// The verdict of the Manager on all audit chains, as of the snapshot of a run.
import type { ReactNode } from 'react'
import { Note } from '../../kit/note.tsx'
import { Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { ChainVerdict } from './evidence.ts'

export function VerdictNote({ chain }: { chain: ChainVerdict }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { status, entries, reason, verified_at: at } = chain
  return (
    <div className="evidence-note">
      {status === 'broken' ? (
        <Note tone="danger">
          <strong>{t('evidence.broken')}</strong> {reason}
        </Note>
      ) : (
        <Note tone={status === 'ok' && reason === null ? 'ok' : 'info'}>
          <strong>{t(`evidence.verdict.${status}`)}</strong>{' '}
          <span className="secondary">
            {reason ?? t('evidence.verifiedEntries', number(entries))} · <Time at={at} />
          </span>
        </Note>
      )}
    </div>
  )
}
