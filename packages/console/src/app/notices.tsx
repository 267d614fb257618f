// Notes above every page: the session has ended, the connection is lost, or a newer version is installed.
import './notices.css'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { reportOutdated, useConnectionState, useOnline } from '../api/connection-state.ts'
import { shellMeDocument } from '../generated/documents.ts'
import { Button } from '../kit/button.tsx'
import { Note } from '../kit/note.tsx'
import { SignInLink } from '../kit/state.tsx'
import { useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'

export function Notices(): ReactNode {
  const t = useText()
  const { isSessionEnded, isOutdated } = useConnectionState()
  const isOnline = useOnline()
  useNewSession(isSessionEnded)
  useEffect(() => {
    const report = (): void => {
      // Without a connection, no part can be loaded, even if no newer version is installed.
      if (navigator.onLine) reportOutdated()
    }
    globalThis.addEventListener('vite:preloadError', report)
    return () => globalThis.removeEventListener('vite:preloadError', report)
  }, [])
  return (
    <div className="notices" role="status">
      {!isOnline && <OfflineNote />}
      {isSessionEnded && (
        <Note tone="warn" actions={<SignInLink isSmall isNewTab />}>
          <strong>{t('app.sessionEnded')}</strong> {t('app.sessionEndedHint')}
        </Note>
      )}
      {isOutdated && (
        <Note
          tone="info"
          actions={
            <Button size="small" onPress={() => location.reload()}>
              {t('app.reload')}
            </Button>
          }
        >
          <strong>{t('app.outdated')}</strong> {t('app.outdatedHint')}
        </Note>
      )}
    </div>
  )
}

/** Reads the caller again when a new session replaces an ended session, because another person may have signed in. */
function useNewSession(isSessionEnded: boolean): void {
  const client = useQueryClient()
  const wasEnded = useRef(false)
  useEffect(() => {
    if (wasEnded.current && !isSessionEnded) void client.invalidateQueries({ queryKey: [shellMeDocument] })
    wasEnded.current = isSessionEnded
  }, [client, isSessionEnded])
}

/** Shows how old the data on the page is while the browser has no connection. */
function OfflineNote(): ReactNode {
  const t = useText()
  const { relative } = useFormat()
  const client = useQueryClient()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000)
    return () => clearInterval(timer)
  }, [])
  const times = client
    .getQueryCache()
    .findAll({ type: 'active' })
    .map((query) => query.state.dataUpdatedAt)
    .filter((time) => time > 0)
  const oldest = times.length === 0 ? null : new Date(Math.min(...times)).toISOString()
  return (
    <Note
      tone="warn"
      actions={
        <Button size="small" onPress={() => void client.invalidateQueries()}>
          {t('kit.retry')}
        </Button>
      }
    >
      <strong>{t('app.offline')}</strong>{' '}
      {oldest === null ? t('app.offlineWithoutData') : t('app.offlineData', relative(oldest, now))}
    </Note>
  )
}
