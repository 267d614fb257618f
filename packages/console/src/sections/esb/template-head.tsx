// How an endpoint is called and where its calls go, above its template.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useProject } from '../../app/project.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Id } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { type Endpoint, toCallPath } from './endpoint-types.ts'

export function TemplateHead({ endpoint }: { endpoint: Endpoint }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { id, url, application } = endpoint
  return (
    <div className="template-head">
      <Link to="/p/$project/esb" params={{ project: slug }} search={{ open: id } as never}>
        {t('esb.allEndpoints')}
      </Link>
      <span className="muted">{application.name}</span>
      <Id value={toCallPath(endpoint)} isWhole />
      <Icon name="arrowRight" />
      <span className="visually-hidden">{t('esb.target')}</span>
      <code className="truncate">{url === null || url === '' ? t('esb.noTarget') : url}</code>
    </div>
  )
}
