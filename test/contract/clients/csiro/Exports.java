import au.csiro.fhir.auth.AuthConfig;
import au.csiro.fhir.export.BulkExportClient;
import au.csiro.fhir.export.ws.AsyncConfig;
import au.csiro.fhir.model.Reference;
import java.time.Duration;
import java.time.Instant;

/**
 * Exports with CSIRO's client, each to a folder of the last argument: the system, all patients, one patient, and a Group with filters.
 */
public class Exports {
  public static void main(String[] args) {
    String root = args[0], clientId = args[1], jwk = args[2], group = args[3], patient = args[4], folder = args[5];
    AuthConfig auth =
        AuthConfig.builder()
            .enabled(true)
            .useSMART(true)
            .clientId(clientId)
            .privateKeyJWK(jwk)
            .scope("system/*.read")
            .build();
    export(BulkExportClient.systemBuilder(), root, auth, folder + "/system");
    export(BulkExportClient.patientBuilder().withType("Patient"), root, auth, folder + "/patients");
    export(
        BulkExportClient.patientBuilder().withPatient(Reference.of("Patient/" + patient)),
        root, auth, folder + "/patient");
    export(
        BulkExportClient.groupBuilder(group)
            .withType("Observation")
            .withTypeFilter("Observation?category=laboratory")
            .withSince(Instant.parse("2020-01-01T00:00:00Z")),
        root, auth, folder + "/group");
  }

  private static void export(
      BulkExportClient.BulkExportClientBuilder builder, String root, AuthConfig auth, String folder) {
    builder
        .withFhirEndpointUrl(root)
        .withOutputDir(folder)
        .withAuthConfig(auth)
        .withAsyncConfig(AsyncConfig.builder().minPoolingDelay(Duration.ofMillis(100)).build())
        .withTimeout(Duration.ofMinutes(1))
        .build()
        .export();
    System.out.println(folder);
  }
}
