// The progress and the result of a verification of all chains.
import type { ReactNode } from 'react'
import { Button, IconButton } from '../../kit/button.tsx'
import { Note } from '../../kit/note.tsx'
import { ProgressBar } from '../../kit/progress-bar.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { VerifyAllState } from './use-verify-all.ts'

type VerifyAllNoteProps = { verification: VerifyAllState; onStop: () => void; onRetry: () => void }

export function VerifyAllNote({ verification, onStop, onRetry }: VerifyAllNoteProps): ReactNode {
  const t = useText()
  const { number, list } = useFormat()
  if (verification.state === 'idle') return null
  if (verification.state === 'failed')
    return (
      <div className="evidence-note">
        <FailureNote failure={verification.failure} onRetry={onRetry} />
      </div>
    )
  const { counts } = verification
  if (verification.state === 'running')
    return (
      <div className="evidence-note evidence-progress">
        <ProgressBar
          label={t(
            'evidence.verifying',
            number(counts.done),
            number(counts.total),
            number(counts.entries),
            verification.project,
          )}
          value={counts.done}
          max={counts.total === 0 ? null : counts.total}
        />
        <Button size="small" onPress={onStop}>
          {t('audit.stop')}
        </Button>
      </div>
    )
  const { broken, verdict } = verification
  const isBroken = broken.length > 0 || verdict.status === 'broken'
  return (
    <div className="evidence-note" role="status">
      <Note
        tone={isBroken ? 'danger' : 'ok'}
        actions={<IconButton icon="close" size="small" label={t('kit.close')} onPress={onStop} />}
      >
        <strong>
          {broken.length > 0
            ? t('evidence.brokenIn', list(broken.slice(0, 5)))
            : t('evidence.verifiedAll', counts.done, number(counts.entries))}
        </strong>{' '}
        {verdict.status === 'broken' && t('evidence.broken')}{' '}
        <span className="secondary">
          {verdict.reason ?? (verdict.status === 'ok' && t('evidence.verdictAll', number(verdict.entries)))}
        </span>
      </Note>
    </div>
  )
}
