// Leads to the template editor of an endpoint.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay, useProject } from '../../app/project.tsx'
import { useText } from '../../texts/language.tsx'

export function TemplateLink({ id, isEmpty }: { id: string; isEmpty: boolean }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const canSave = useMay('esb.saveTemplate')
  const text = canSave ? (isEmpty ? 'esb.addTemplate' : 'esb.editTemplate') : 'esb.viewTemplate'
  return (
    <Link to="/p/$project/esb/$endpoint" params={{ project: slug, endpoint: id }}>
      {t(text)}
    </Link>
  )
}
