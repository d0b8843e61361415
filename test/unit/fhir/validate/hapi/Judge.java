import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.validation.FhirValidator;
import ca.uhn.fhir.validation.ResultSeverityEnum;
import ca.uhn.fhir.validation.SingleValidationMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.hl7.fhir.common.hapi.validation.support.CommonCodeSystemsTerminologyService;
import org.hl7.fhir.common.hapi.validation.support.InMemoryTerminologyServerValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.PrePopulatedValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.SnapshotGeneratingValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.ValidationSupportChain;
import org.hl7.fhir.common.hapi.validation.validator.FhirInstanceValidator;
import org.hl7.fhir.instance.model.api.IBaseResource;
import org.hl7.fhir.r4.model.StructureDefinition;

/**
 * Judges each line of the second file by HAPI's validator, with the definitions of the first. Prints a line for each: the errors,
 * or nothing.
 */
public class Judge {
  /** Messages about code systems and units, which the gateway does not reject. They are not about a profile. */
  private static final String TERMINOLOGY =
      "(?s)(Unknown code|Error processing unit|The value provided .* 'DataAbsentReason').*";

  public static void main(String[] args) throws Exception {
    FhirContext context = FhirContext.forR4Cached();
    PrePopulatedValidationSupport definitions = new PrePopulatedValidationSupport(context);
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      IBaseResource resource = context.newJsonParser().parseResource(line);
      if (resource instanceof StructureDefinition) definitions.addStructureDefinition(resource);
      else definitions.addValueSet(resource);
    }
    FhirInstanceValidator instances =
        new FhirInstanceValidator(
            new ValidationSupportChain(
                new DefaultProfileValidationSupport(context),
                definitions,
                new CommonCodeSystemsTerminologyService(context),
                new InMemoryTerminologyServerValidationSupport(context),
                new SnapshotGeneratingValidationSupport(context)));
    instances.setAnyExtensionsAllowed(true);
    FhirValidator validator = context.newValidator();
    validator.registerValidatorModule(instances);
    for (String line : Files.readAllLines(Path.of(args[1]))) {
      System.out.println(
          validator.validateWithResult(line).getMessages().stream()
              .filter(one -> one.getSeverity().ordinal() >= ResultSeverityEnum.ERROR.ordinal())
              .map(SingleValidationMessage::getMessage)
              .filter(message -> !message.matches(TERMINOLOGY))
              .map(message -> message.replaceAll("\\s+", " "))
              .collect(Collectors.joining("; ")));
    }
  }
}
