import ca.uhn.fhir.parser.StrictErrorHandler;
import ca.uhn.fhir.rest.api.MethodOutcome;
import ca.uhn.fhir.rest.api.PreferReturnEnum;
import ca.uhn.fhir.rest.api.SearchStyleEnum;
import ca.uhn.fhir.rest.api.SearchTotalModeEnum;
import ca.uhn.fhir.rest.api.SummaryEnum;
import ca.uhn.fhir.rest.client.api.IGenericClient;
import ca.uhn.fhir.rest.gclient.IQuery;
import ca.uhn.fhir.rest.param.DateRangeParam;
import ca.uhn.fhir.rest.param.TokenParam;
import ca.uhn.fhir.rest.server.exceptions.BaseServerResponseException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.jwk.JWK;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.hl7.fhir.r4.model.Bundle;
import org.hl7.fhir.r4.model.CapabilityStatement;
import org.hl7.fhir.r4.model.IdType;
import org.hl7.fhir.r4.model.InstantType;
import org.hl7.fhir.r4.model.Meta;
import org.hl7.fhir.r4.model.Observation;
import org.hl7.fhir.r4.model.Parameters;
import org.hl7.fhir.r4.model.Patient;
import org.hl7.fhir.r4.model.Reference;
import org.hl7.fhir.r4.model.StringType;
import org.hl7.fhir.r4.model.Subscription;

/** Calls every method of HAPI FHIR's generic client and prints the outcomes as JSON (outcomes.ts). */
public class Calls {
  static final Map<String, Map<String, Object>> OUTCOMES = new LinkedHashMap<>();

  static void call(String name, Callable<?> call) throws Exception {
    try {
      call.call();
      OUTCOMES.put(name, null);
    } catch (BaseServerResponseException refused) {
      OUTCOMES.put(name, Map.of("status", refused.getStatusCode(), "text", String.valueOf(refused.getMessage())));
    }
  }

  static boolean check(boolean holds) {
    if (!holds) throw new AssertionError();
    return true;
  }

  static Patient patient(String value) {
    var patient = new Patient();
    patient.addIdentifier().setSystem("urn:mrn").setValue(value);
    patient.addName().setFamily("Hapisson").addGiven("Ada");
    return patient;
  }

  static String random() {
    return UUID.randomUUID().toString();
  }

  static Bundle transaction() {
    var bundle = new Bundle().setType(Bundle.BundleType.TRANSACTION);
    var entry = bundle.addEntry().setFullUrl("urn:uuid:" + random()).setResource(patient(random()));
    entry.getRequest().setMethod(Bundle.HTTPVerb.POST).setUrl("Patient");
    var observation = new Observation().setStatus(Observation.ObservationStatus.FINAL);
    observation.getCode().setText("c");
    observation.setSubject(new Reference(entry.getFullUrl()));
    bundle.addEntry().setResource(observation).getRequest().setMethod(Bundle.HTTPVerb.POST).setUrl("Observation");
    return bundle;
  }

  /**
   * @param args FHIR base, token endpoint, Client ID, private JWK, the id of a Subscription with events, and the files with its notifications
   */
  public static void main(String[] args) throws Exception {
    var client = Gateway.client(args[0], Gateway.token(args[1], args[2], JWK.parse(args[3])));
    // First: the calls after it are events too.
    var notifications = ofSubscriptions(client, args);
    var value = random();
    MethodOutcome made = client.create().resource(patient(value)).execute();
    var id = (IdType) made.getId().toUnqualifiedVersionless();
    var observation = new Observation().setStatus(Observation.ObservationStatus.FINAL);
    observation.getCode().setText("c");
    observation.setSubject(new Reference(id));
    client.create().resource(observation).execute();
    ofResources(client, value, id);
    ofSearches(client, value, id);
    var methods = Arrays.stream(IGenericClient.class.getMethods()).map(method -> method.getName()).distinct().toList();
    System.out.println(new ObjectMapper().writeValueAsString(Map.of("outcomes", OUTCOMES, "methods", methods,
        "notifications", notifications)));
  }

  static void ofResources(IGenericClient client, String value, IdType id) throws Exception {
    call("capabilities", () -> client.capabilities().ofType(CapabilityStatement.class).execute());
    call("forceConformanceCheck", () -> { client.forceConformanceCheck(); return null; });
    call("read", () -> check(client.read().resource(Patient.class).withId(id).execute().getIdElement().getIdPart().equals(id.getIdPart())));
    call("read of a version", () -> client.read().resource(Patient.class).withId(id.withVersion("1")).execute());
    call("vread", () -> client.vread(Patient.class, id.getIdPart(), "1"));
    call("read of another than this version", () -> check(
        client.read().resource(Patient.class).withId(id).ifVersionMatches("1").returnNull().execute() == null));
    call("read in part", () -> client.read().resource(Patient.class).withId(id).elementsSubset("name").execute());
    call("read of a summary", () -> client.read().resource(Patient.class).withId(id).summaryMode(SummaryEnum.TRUE).execute());
    call("read of XML", () -> client.read().resource(Patient.class).withId(id).encodedXml().execute());
    call("fetchResourceFromUrl", () -> client.fetchResourceFromUrl(Patient.class, client.getServerBase() + "/" + id.getValue()));

    call("create", () -> check(client.create().resource(patient(random())).execute().getCreated()));
    call("create conditionally", () -> check(!Boolean.TRUE.equals(client.create().resource(patient(value)).conditional()
        .where(Patient.IDENTIFIER.exactly().systemAndCode("urn:mrn", value)).execute().getCreated())));
    call("create conditionally by URL", () -> check(client.create().resource(patient(value))
        .conditionalByUrl("Patient?identifier=" + value).execute().getId().getIdPart().equals(id.getIdPart())));
    call("create with little said", () -> client.create().resource(patient(random())).prefer(PreferReturnEnum.MINIMAL).execute());
    call("update", () -> client.update().resource(patient(value).setActive(true).setId(id)).execute());
    call("update of a version", () -> client.update().resource(patient(value).setActive(false).setId(id.withVersion("2"))).execute());
    call("update of a part", () -> {
      var part = client.read().resource(Patient.class).withId(id).elementsSubset("gender").execute();
      check(!part.hasIdentifier());
      return client.update().resource(part.setActive(true)).execute();
    });
    call("update conditionally", () -> check(client.update().resource(patient(value)).conditional()
        .where(Patient.IDENTIFIER.exactly().code(value)).execute().getId().getIdPart().equals(id.getIdPart())));
    call("patch", () -> client.patch().withBody("[{\"op\":\"add\",\"path\":\"/gender\",\"value\":\"female\"}]").withId(id).execute());
    call("patch with FHIRPath", () -> client.patch().withFhirPatch(fhirPatch()).withId(id).execute());
    call("patch conditionally", () -> client.patch().withBody("[{\"op\":\"add\",\"path\":\"/gender\",\"value\":\"male\"}]")
        .conditional(Patient.class).where(Patient.IDENTIFIER.exactly().code(value)).execute());
    call("delete", () -> client.delete().resourceById(id).execute());
    call("delete conditionally", () -> client.delete().resourceConditionalByType("Patient")
        .where(Patient.IDENTIFIER.exactly().code(value)).execute());
    call("validate", () -> client.validate().resource(patient(value)).execute());

    call("transaction", () -> check(client.transaction().withBundle(transaction()).execute().getEntry().size() == 2));
    call("transaction of resources", () -> client.transaction().withResources(List.of(patient(random()))).execute());
    call("history", () -> client.history().onInstance(id).returnBundle(Bundle.class).execute());
    call("history since", () -> client.history().onInstance(id).returnBundle(Bundle.class).since(new Date(0)).execute());
    call("history of a type", () -> client.history().onType(Patient.class).returnBundle(Bundle.class).execute());
    call("history of all types", () -> client.history().onServer().returnBundle(Bundle.class).execute());
    call("operation $validate", () -> client.operation().onType(Patient.class).named("$validate")
        .withParameter(Parameters.class, "resource", patient(value)).execute());
    call("operation $everything", () -> client.operation().onInstance(id).named("$everything")
        .withNoParameters(Parameters.class).useHttpGet().returnResourceType(Bundle.class).execute());
    call("operation $everything by POST", () -> client.operation().onInstance(id).named("$everything")
        .withNoParameters(Parameters.class).returnResourceType(Bundle.class).execute());
    call("meta", () -> client.meta().get(Meta.class).fromResource(id).execute());
    call("meta added", () -> client.meta().add().onResource(id).meta(new Meta().addTag("urn:x", "y", null)).execute());
  }

  static Parameters fhirPatch() {
    var patch = new Parameters();
    var operation = patch.addParameter().setName("operation");
    operation.addPart().setName("type").setValue(new org.hl7.fhir.r4.model.CodeType("delete"));
    operation.addPart().setName("path").setValue(new StringType("Patient.active"));
    return patch;
  }

  static IQuery<Bundle> patients(IGenericClient client) {
    return client.search().forResource(Patient.class).returnBundle(Bundle.class);
  }

  static IQuery<Bundle> observations(IGenericClient client) {
    return client.search().forResource(Observation.class).returnBundle(Bundle.class);
  }

  static void ofSearches(IGenericClient client, String value, IdType id) throws Exception {
    var mine = Patient.IDENTIFIER.exactly().systemAndCode("urn:mrn", value);
    call("search", () -> check(patients(client).where(mine).execute().getEntry().size() == 1));
    call("search by name", () -> patients(client).where(Patient.NAME.matches().value("hapi")).execute());
    call("search by gender", () -> patients(client).where(Patient.GENDER.exactly().code("female")).execute());
    call("search by birth date", () -> patients(client).where(Patient.BIRTHDATE.exactly().day("1970-12-31")).execute());
    call("search by a day before", () -> patients(client).where(Patient.BIRTHDATE.before().day("2000-01-01")).execute());
    call("search exactly", () -> patients(client).where(Patient.NAME.matchesExactly().value("Hapisson")).execute());
    call("search by missing value", () -> patients(client).where(Patient.GENDER.isMissing(true)).execute());
    call("search by family", () -> patients(client).where(Patient.FAMILY.matches().value("hapi")).execute());
    call("search by patient", () -> check(observations(client).where(Observation.PATIENT.hasId(id)).execute().getEntry().size() == 1));
    call("search by subject", () -> observations(client).where(Observation.SUBJECT.hasId(id)).execute());
    call("search by date", () -> observations(client).where(Observation.DATE.afterOrEquals().day("2020-01-01")).execute());
    call("search by category", () -> observations(client).where(Observation.CATEGORY.exactly().code("laboratory")).execute());
    call("search chained", () -> observations(client)
        .where(Observation.PATIENT.hasChainedProperty(Patient.NAME.matches().value("hapi"))).execute());
    call("search with has", () -> patients(client).where(
        Map.of("_has:Observation:patient:code", List.of(new TokenParam("c")))).execute());
    call("search with include", () -> observations(client).include(Observation.INCLUDE_PATIENT).execute());
    call("search with reverse include", () -> patients(client).where(mine).revInclude(Observation.INCLUDE_PATIENT).execute());
    call("search by the time of change", () -> check(patients(client).where(mine)
        .lastUpdated(new DateRangeParam().setLowerBoundInclusive(new Date(0))).execute().getEntry().size() == 1));
    call("search by tag", () -> patients(client).withTag("urn:x", "y").execute());
    call("search by profile", () -> patients(client).withProfile("http://hl7.org/fhir/StructureDefinition/Patient").execute());
    call("search by security label", () -> patients(client).withSecurity("urn:x", "y").execute());
    call("search in a compartment", () -> patients(client).withIdAndCompartment(id.getIdPart(), "Observation").execute());
    call("search by URL", () -> client.search().byUrl("Patient?identifier=" + value).returnBundle(Bundle.class).execute());
    call("search of all types", () -> client.search().forAllResources().returnBundle(Bundle.class).execute());
    call("search by POST", () -> check(patients(client).where(mine).usingStyle(SearchStyleEnum.POST).execute().getEntry().size() == 1));
    call("search by GET of _search", () -> patients(client).where(mine).usingStyle(SearchStyleEnum.GET_WITH_SEARCH).execute());
    call("search of XML", () -> patients(client).where(mine).encodedXml().execute());
    call("search sorted", () -> patients(client).sort().ascending(Patient.BIRTHDATE).execute());
    call("search sorted twice", () -> patients(client).sort().ascending(Patient.BIRTHDATE).sort().descending("_lastUpdated").execute());
    call("search in part", () -> check(!patients(client).where(mine).elementsSubset("gender").execute().getEntryFirstRep().getResource().isEmpty()));
    for (var summary : SummaryEnum.values()) {
      call("search with _summary=" + summary.getCode(), () -> patients(client).where(mine).summaryMode(summary).execute());
    }
    for (var total : SearchTotalModeEnum.values()) {
      call("search with _total=" + total.getCode(), () -> check(patients(client).where(mine).totalMode(total).execute().getTotal()
          == 1 || total == SearchTotalModeEnum.NONE));
    }
    call("loadPage", () -> check(
        client.loadPage().next(patients(client).count(1).execute()).execute().getEntry().size() == 1));
  }

  /** Reads a notification as a subscriber does: the type, the number of all events, the number and the focus of each event, and the resources. */
  static Map<String, Object> readNotification(Bundle bundle) {
    var read = new LinkedHashMap<String, Object>();
    var events = new ArrayList<List<String>>();
    var status = (Parameters) bundle.getEntryFirstRep().getResource();
    for (var parameter : status.getParameter()) {
      switch (parameter.getName()) {
        case "type" -> read.put("type", parameter.getValue().primitiveValue());
        case "events-since-subscription-start" -> read.put("count", Integer.parseInt(parameter.getValue().primitiveValue()));
        case "notification-event" -> {
          var parts = parameter.getPart().stream().collect(Collectors.toMap(part -> part.getName(), part -> part.getValue()));
          check(((InstantType) parts.get("timestamp")).getValue() != null);
          var focus = new IdType(((Reference) parts.get("focus")).getReference());
          events.add(List.of(parts.get("event-number").primitiveValue(), focus.toUnqualified().getValue()));
        }
        default -> { }
      }
    }
    read.put("bundle", bundle.getType().toCode());
    read.put("events", events);
    read.put("resources", bundle.getEntry().stream().skip(1).map(entry -> entry.hasResource()
        ? entry.getResource().getIdElement().toUnqualified().getValue() : entry.getRequest().getMethod().toCode()).toList());
    return read;
  }

  static List<Map<String, Object>> ofSubscriptions(IGenericClient client, String[] args) throws Exception {
    var read = new ArrayList<Map<String, Object>>();
    var strict = client.getFhirContext().newJsonParser().setParserErrorHandler(new StrictErrorHandler());
    for (var file : Arrays.asList(args).subList(5, args.length)) {
      read.add(readNotification(strict.parseResource(Bundle.class, Files.readString(Path.of(file)))));
    }
    var known = new IdType("Subscription", args[4]);
    call("operation $status", () -> read.add(readNotification(client.operation().onInstance(known).named("$status")
        .withNoParameters(Parameters.class).useHttpGet().returnResourceType(Bundle.class).execute())));
    call("operation $events", () -> read.add(readNotification(client.operation().onInstance(known).named("$events")
        .withParameter(Parameters.class, "eventsSinceNumber", new StringType("2")).returnResourceType(Bundle.class).execute())));
    call("search of Subscriptions", () -> check(
        client.search().forResource(Subscription.class).returnBundle(Bundle.class).execute().getTotal() == 1));
    call("read of a Subscription", () -> {
      var found = client.read().resource(Subscription.class).withId(known).execute();
      check(found.getStatus() == Subscription.SubscriptionStatus.ACTIVE);
      var other = found.copy();
      other.setId((String) null);
      other.setMeta(null);
      other.setStatus(Subscription.SubscriptionStatus.REQUESTED);
      var made = client.create().resource(other).execute();
      check(made.getCreated());
      var own = (Subscription) made.getResource();
      own.setStatus(Subscription.SubscriptionStatus.OFF);
      var off = (Subscription) client.update().resource(own).execute().getResource();
      check(off.getStatus() == Subscription.SubscriptionStatus.OFF && off.getMeta().getVersionId().equals("2"));
      return client.delete().resourceById(own.getIdElement().toUnqualifiedVersionless()).execute();
    });
    return read;
  }
}
