// The fields of the form for a specification.
import type { ReactNode } from 'react'
import type { CurrentEnvironment } from '../../app/project.tsx'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { TextField } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import type { FieldName, SpecificationValues } from './specification-values.ts'

type SpecificationFieldsProps = {
  environment: CurrentEnvironment
  values: SpecificationValues
  /** While scale to zero is on, the API rejects another workload. */
  isWorkloadFixed: boolean
  onChange: (changes: Partial<SpecificationValues>) => void
}

export function SpecificationFields({
  environment,
  values,
  isWorkloadFixed,
  onChange,
}: SpecificationFieldsProps): ReactNode {
  const t = useText()
  const bind = (name: FieldName) => ({
    name,
    value: values[name],
    onChange: (text: string) => onChange({ [name]: text }),
  })
  return (
    <>
      <p>
        {t('deployments.specificationHint')} {t('deployments.inEnvironment')}{' '}
        <EnvironmentBadge name={environment.name} isProtected={environment.protected} />
      </p>
      <TextField
        {...bind('workload')}
        label={t('deployments.workload')}
        hint={isWorkloadFixed ? t('deployments.workloadFixed') : t('deployments.workloadHint')}
        isReadOnly={isWorkloadFixed}
        isMono
        isRequired
        hasAutoFocus={!isWorkloadFixed}
      />
      <TextField
        {...bind('image')}
        label={t('deployments.image')}
        isMono
        isRequired
        hasAutoFocus={isWorkloadFixed}
      />
      <TextField {...bind('version')} label={t('deployments.version')} />
      <div className="specification-pair">
        <TextField {...bind('minReplicas')} label={t('deployments.minReplicas')} isRequired />
        <TextField {...bind('maxReplicas')} label={t('deployments.maxReplicas')} isRequired />
      </div>
      <div className="specification-pair">
        <TextField {...bind('port')} label={t('deployments.port')} isRequired />
        <TextField {...bind('healthPath')} label={t('deployments.healthPath')} isMono isRequired />
      </div>
      <TextField {...bind('readinessTimeoutSeconds')} label={t('deployments.readinessTimeout')} isRequired />
    </>
  )
}
