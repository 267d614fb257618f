// Why a call failed, and what to do.
import type { ReactNode } from 'react'
import { useNow } from '../../app/now.ts'
import { Note } from '../../kit/note.tsx'
import { VisibleText } from '../../kit/visible-text.tsx'
import { useText } from '../../texts/language.tsx'
import { type Call, findStatusKind, isRunning } from './call.ts'
import { findReason, mayHaveArrived } from './reasons.ts'

export function CallWhy({ call }: { call: Call }): ReactNode {
  const t = useText()
  const now = useNow()
  const reason = findReason(call)
  if (reason === null) {
    if (call.durationMs !== null) return null
    return isRunning(call, now) ? (
      <Note tone="info">{t('calls.runningHint')}</Note>
    ) : (
      <Note tone="warn">
        <strong>{t('calls.unknownEnd')}</strong> {t('calls.unknownEndHint')}
      </Note>
    )
  }
  return (
    <Note tone={findStatusKind(call) === 'danger' ? 'danger' : 'warn'}>
      <div className="call-why">
        <strong>{t(`calls.reason.${reason}`)}</strong>
        <p>
          {t(`calls.remedy.${reason}`)}{' '}
          {mayHaveArrived(reason) && <strong>{t('calls.mayHaveArrived')}</strong>}
        </p>
        {call.failure !== null && (
          <p className="call-recorded">
            {t('calls.recordedAs')}{' '}
            <code>
              <VisibleText text={call.failure} />
            </code>
          </p>
        )}
      </div>
    </Note>
  )
}
