import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { State } from '../kit/state.tsx'
import { useText } from '../texts/language.tsx'

export function NotFound(): ReactNode {
  const t = useText()
  return (
    <State
      isPage
      icon="search"
      title={t('app.pageNotFound')}
      actions={
        <Link to="/" className="button" data-variant="default">
          {t('app.allProjects')}
        </Link>
      }
    >
      <p>{t('app.pageNotFoundHint')}</p>
      <code>{location.pathname}</code>
    </State>
  )
}
