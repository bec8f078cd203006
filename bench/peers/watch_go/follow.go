package main

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	crcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

var prototypes = map[string]client.Object{"pods": &corev1.Pod{}, "nodes": &corev1.Node{}}

// What is known of the server: no client asks it which kinds it has.
var mapper = sync.OnceValue(func() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	return m
})

// Starts an informer of the collection; what is returned says whether it has synced.
func follow(ctx context.Context, how, collection string, config *rest.Config, t *tally) (cache.InformerSynced, error) {
	prototype := prototypes[collection]
	if prototype == nil {
		return nil, fmt.Errorf("%s: pods and nodes are known", collection)
	}
	of := corev1.SchemeGroupVersion.WithResource(collection)
	var informer cache.SharedIndexInformer
	switch how {
	case "typed":
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		source := cache.NewListWatchFromClient(clients.CoreV1().RESTClient(), collection, metav1.NamespaceAll, fields.Everything())
		informer = cache.NewSharedIndexInformer(source, prototype.(runtime.Object), 0, cache.Indexers{})
	case "dynamic":
		clients, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		informer = dynamicinformer.NewFilteredDynamicInformer(clients, of, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	case "metadata":
		clients, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		informer = metadatainformer.NewFilteredMetadataInformer(clients, of, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	case "cache":
		return followByCache(ctx, prototype, config, t)
	default:
		return nil, fmt.Errorf("%s: no such client", how)
	}
	handle, err := informer.AddEventHandler(t.handler())
	if err != nil {
		return nil, err
	}
	go informer.Run(ctx.Done())
	return handle.HasSynced, nil
}

func followByCache(ctx context.Context, prototype client.Object, config *rest.Config, t *tally) (cache.InformerSynced, error) {
	over, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	kept, err := crcache.New(config, crcache.Options{Scheme: scheme.Scheme, Mapper: mapper(), HTTPClient: over})
	if err != nil {
		return nil, err
	}
	go func() {
		if err := kept.Start(ctx); err != nil {
			fail(err)
		}
	}()
	informer, err := kept.GetInformer(ctx, prototype, crcache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	handle, err := informer.AddEventHandler(t.handler())
	if err != nil {
		return nil, err
	}
	return handle.HasSynced, nil
}

